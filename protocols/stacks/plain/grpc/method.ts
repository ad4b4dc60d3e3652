/** The one method that both implementations have: packets in, packets out, as JSON. */
export const METHOD = 'Exchange';
export const PATH = `/mesh.v1.Packets/${METHOD}`;

/** `INTERNAL`: the work failed (gRPC, "Status codes and their use"). */
export const INTERNAL = 13;

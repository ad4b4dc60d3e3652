/** The one method that both implementations have: packets in, packets out, as JSON. */
export const SERVICE = 'mesh.v1.Packets';
export const METHOD = 'Exchange';
export const PATH = `/${SERVICE}/${METHOD}`;

/** `INTERNAL`: the work failed (gRPC, "Status codes and their use"). */
export const INTERNAL = 13;

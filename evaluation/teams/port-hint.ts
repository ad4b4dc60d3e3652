/** Advice when a port of a run is in use. It has a file of its own, since launcher and agents share nothing else. */
export const PORT_HINT = '; choose other ports: --port-base N, or --port-base auto for any free ones';

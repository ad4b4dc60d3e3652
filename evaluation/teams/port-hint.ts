/** What to do where a port of a run is in use; a file of its own, since launcher and agents need nothing else of each other. */
export const PORT_HINT = '; choose other ports: --port-base N, or --port-base auto for any free ones';

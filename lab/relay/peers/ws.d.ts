/** `ws` brings no types; this is what is used of it here. */
declare module 'ws' {
  export interface WebSocket {
    on(event: 'message', listener: (message: Buffer, isBinary: boolean) => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
    send(message: Buffer, options: { readonly binary: boolean }): void;
  }

  export class WebSocketServer {
    readonly clients: ReadonlySet<WebSocket>;
    constructor(options: { readonly host: string; readonly port: number });
    on(event: 'connection', listener: (socket: WebSocket) => void): this;
  }
}

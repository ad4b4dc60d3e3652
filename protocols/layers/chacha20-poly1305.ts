import { aeadLayer } from './aead.ts';

export const chacha20poly1305 = aeadLayer('chacha20-poly1305');

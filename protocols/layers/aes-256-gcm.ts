import { aeadLayer } from './aead.ts';

export const aes256gcm = aeadLayer('aes-256-gcm');

import { MAX_RANDOM } from '../../own-calls';
import { eachSession } from '../each-session';
import { looked } from '../looked';
import { NativeError, NativeTypeError } from '../primordials';
import type { OwnCalls } from './own';
import type { Base64 } from './text';

/** Random bytes that are requested at once for UUIDs. */
const POOL = 16 * 16;

const hex = '0123456789abcdef';

/** `crypto.randomUUID` and `crypto.getRandomValues`, with random bytes of the system. */
export function makeCrypto(own: OwnCalls, { bytesOf }: Base64): object {
  const pool = eachSession(() => ({ bytes: new Uint8Array(0) as Uint8Array }));
  const take = (): Uint8Array => {
    const now = pool();
    if (now.bytes.length < 16) now.bytes = bytesOf(own.random(POOL));
    const taken = now.bytes.slice(0, 16);
    now.bytes = now.bytes.subarray(16);
    return taken;
  };
  const methods = {
    getRandomValues<T>(array: T): T {
      looked.at('random');
      if (
        !ArrayBuffer.isView(array) ||
        array instanceof DataView ||
        /Float/.test(String(Object.prototype.toString.call(array)))
      )
        throw new NativeTypeError('getRandomValues: an array of whole numbers is needed, such as Uint8Array');
      const { buffer, byteOffset, byteLength } = array as unknown as Uint8Array;
      if (byteLength > MAX_RANDOM) {
        const error = new NativeError(`getRandomValues: at most ${MAX_RANDOM} bytes at once`);
        throw Object.defineProperty(error, 'name', { value: 'QuotaExceededError', configurable: true });
      }
      new Uint8Array(buffer, byteOffset, byteLength).set(bytesOf(own.random(byteLength)));
      return array;
    },
    randomUUID(): string {
      looked.at('random');
      const bytes = take();
      bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
      bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
      let uuid = '';
      for (let index = 0; index < 16; index += 1) {
        const byte = bytes[index] as number;
        if (index === 4 || index === 6 || index === 8 || index === 10) uuid += '-';
        uuid += `${hex[byte >> 4]}${hex[byte & 15]}`;
      }
      return uuid;
    },
  };
  Object.defineProperty(methods, Symbol.toStringTag, { value: 'Crypto', configurable: true });
  return methods;
}

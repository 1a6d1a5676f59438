/** Bytes as an instance of the class with this name, with memory of its own; `undefined` for a class that holds none. */
export function bytesOfClass(name: string, bytes: Uint8Array): unknown {
  const make = Object.hasOwn(byteClasses, name) ? byteClasses[name] : undefined
  // A copy: small buffers share Node's pool.
  return make?.(new Uint8Array(bytes).buffer)
}

const byteClasses: Readonly<Record<string, (bytes: ArrayBuffer) => unknown>> = {
  ArrayBuffer: (bytes) => bytes,
  SharedArrayBuffer: (bytes) => {
    const shared = new SharedArrayBuffer(bytes.byteLength)
    new Uint8Array(shared).set(new Uint8Array(bytes))
    return shared
  },
  Buffer: (bytes) => Buffer.from(bytes),
  DataView: (bytes) => new DataView(bytes),
  Int8Array: (bytes) => new Int8Array(bytes),
  Uint8Array: (bytes) => new Uint8Array(bytes),
  Uint8ClampedArray: (bytes) => new Uint8ClampedArray(bytes),
  Int16Array: (bytes) => new Int16Array(bytes),
  Uint16Array: (bytes) => new Uint16Array(bytes),
  Int32Array: (bytes) => new Int32Array(bytes),
  Uint32Array: (bytes) => new Uint32Array(bytes),
  Float32Array: (bytes) => new Float32Array(bytes),
  Float64Array: (bytes) => new Float64Array(bytes),
  BigInt64Array: (bytes) => new BigInt64Array(bytes),
  BigUint64Array: (bytes) => new BigUint64Array(bytes),
}

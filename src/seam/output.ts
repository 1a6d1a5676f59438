type Write = typeof process.stdout.write

/** Copies what the program writes to its standard streams, leaving the streams as they are. */
export function copyOutput(): { readonly stdout: () => string; readonly stderr: () => string } {
  return { stdout: copy(process.stdout), stderr: copy(process.stderr) }
}

function copy(stream: NodeJS.WriteStream): () => string {
  const pieces: Buffer[] = []
  const { write } = stream
  const copied = function (this: NodeJS.WriteStream, ...args: unknown[]) {
    const [chunk, encoding] = args
    pieces.push(
      typeof chunk === 'string'
        ? Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
        : Buffer.from(chunk as Uint8Array),
    )
    return Reflect.apply(write, this, args) as boolean
  } as Write
  stream.write = copied
  return () => Buffer.concat(pieces).toString('utf8')
}

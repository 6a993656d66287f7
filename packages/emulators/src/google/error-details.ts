/** One protobuf field of wire type 2: https://protobuf.dev/programming-guides/encoding/ */
function field(number: number, value: string | Buffer): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest >>>= 7) {
    bytes.push(rest < 0x80 ? rest : (rest & 0x7f) | 0x80)
    if (rest < 0x80) return Buffer.from(bytes)
  }
}

/** The google.rpc.Status that travels in `grpc-status-details-bin`, with a google.rpc.ErrorInfo that names a permission. */
export function statusDetails(code: number, message: string, permission: string): Buffer {
  const info = Buffer.concat([
    field(1, 'IAM_PERMISSION_DENIED'),
    field(2, 'iam.googleapis.com'),
    field(3, Buffer.concat([field(1, 'permission'), field(2, permission)])),
  ])
  const any = Buffer.concat([field(1, 'type.googleapis.com/google.rpc.ErrorInfo'), field(2, info)])
  return Buffer.concat([varint(1 << 3), varint(code), field(2, message), field(3, any)])
}

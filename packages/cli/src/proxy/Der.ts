/** The few forms of DER (X.690) that a certificate is written in. Nothing is read here. */

const lengthOf = (length: number): Buffer => {
  if (length < 0x80) return Buffer.from([length])
  const hex = length.toString(16)
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex")
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes])
}

export const tagged = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content])
}

export const sequence = (...parts: ReadonlyArray<Uint8Array>): Buffer => tagged(0x30, ...parts)
export const set = (...parts: ReadonlyArray<Uint8Array>): Buffer => tagged(0x31, ...parts)
export const octets = (content: Uint8Array): Buffer => tagged(0x04, content)
export const boolean = (value: boolean): Buffer => tagged(0x01, Buffer.from([value ? 0xff : 0]))
export const utf8 = (text: string): Buffer => tagged(0x0c, Buffer.from(text))
/** Constructed, with a number in the context of its sequence. */
export const explicit = (number: number, content: Uint8Array): Buffer => tagged(0xa0 | number, content)
/** Primitive, with a number in the context of its sequence. */
export const implicit = (number: number, content: Uint8Array): Buffer => tagged(0x80 | number, content)

/** A number that is not negative, of big-endian bytes. */
export const integer = (bytes: Uint8Array): Buffer =>
  tagged(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes)

/** Bits, of which the last `unused` of the last byte are none. */
export const bits = (content: Uint8Array, unused = 0): Buffer => tagged(0x03, Buffer.from([unused]), content)

const base128 = (arc: number): ReadonlyArray<number> => {
  const digits = [arc & 0x7f]
  for (let rest = arc >> 7; rest > 0; rest >>= 7) digits.unshift(0x80 | (rest & 0x7f))
  return digits
}

export const oid = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...arcs] = dotted.split(".").map(Number)
  return tagged(0x06, Buffer.from([first * 40 + second, ...arcs.flatMap(base128)]))
}

/** A moment before 2050. */
export const utcTime = (millis: number): Buffer => {
  const text = new Date(millis)
    .toISOString()
    .replace(/[-:T]|\.[0-9]+/g, "")
    .slice(2)
  return tagged(0x17, Buffer.from(text))
}

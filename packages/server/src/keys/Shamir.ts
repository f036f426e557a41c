import { randomBytes } from "node:crypto"

/** A point of the polynomials of all bytes: x is the number of the share, 1 to 255. */
export interface Point {
  readonly x: number
  readonly y: Uint8Array
}

/**
 * Multiplies in GF(2^8) with AES's polynomial x^8 + x^4 + x^3 + x + 1 (0x11b). Without tables and branches, so that neither the
 * cache nor the time depends on the bytes of a key.
 */
const multiply = (a: number, b: number): number => {
  let product = 0
  let shifted = a
  for (let bit = 0; bit < 8; bit++) {
    product ^= -((b >> bit) & 1) & shifted
    shifted = (shifted << 1) ^ (-(shifted >> 7) & 0x11b)
  }
  return product
}

/** The inverse is the 254th power: each element but 0 is a root of x^255 = 1. */
const invert = (a: number): number => {
  let power = a
  for (let step = 0; step < 6; step++) power = multiply(multiply(power, power), a)
  return multiply(power, power)
}

/** Evaluates at x the polynomial of least degree through some points (Lagrange). */
export const interpolate = (points: ReadonlyArray<Point>, x: number): Uint8Array => {
  const length = points[0]?.y.length ?? 0
  const result = new Uint8Array(length)
  for (const { x: own, y } of points) {
    let weight = 1
    for (const { x: other } of points) {
      if (other !== own) weight = multiply(weight, multiply(x ^ other, invert(own ^ other)))
    }
    for (let index = 0; index < length; index++) result[index] = (result[index] ?? 0) ^ multiply(weight, y[index] ?? 0)
  }
  return result
}

/**
 * Splits bytes into points of which any `threshold` give them, and fewer say nothing about them (Shamir, "How to share a secret",
 * 1979): the bytes are the values at 0 of random polynomials of the degree `threshold` - 1.
 */
export const splitBytes = (secret: Uint8Array, threshold: number, count: number): ReadonlyArray<Point> => {
  const coefficients = [secret, ...Array.from({ length: threshold - 1 }, () => randomBytes(secret.length))]
  return Array.from({ length: count }, (_, index) => {
    const x = index + 1
    // Horner's rule, from the highest coefficient down.
    const y = coefficients.reduceRight(
      (sum, bytes) => bytes.map((byte, at) => byte ^ multiply(sum[at] ?? 0, x)),
      new Uint8Array(secret.length)
    )
    return { x, y: new Uint8Array(y) }
  })
}

import { createHash, randomInt, timingSafeEqual } from "node:crypto"
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import { interpolate, type Point, splitBytes } from "./Shamir.js"

/** Why shares give no key, in a sentence for the person who types them. Nothing of a share is in it. */
export class ShareProblem extends Data.TaggedError("ShareProblem")<{ readonly message: string }> {}

const problem = (message: string) => Either.left(new ShareProblem({ message }))

/** Crockford's base32: without U, and without I, L and O, which are read as 1 and 0. */
const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
const groupLength = 5
/** The set, the data and the check. */
const groupCounts = [1, 12, 1] as const
const allGroups = groupCounts[0] + groupCounts[1] + groupCounts[2]

const keyBytes = 32
/** With the key's check, the data fill their groups but for four bits, which are 0. */
const keyCheckBytes = 5

const digest = (label: string, bytes: Uint8Array | string, length: number): Buffer =>
  createHash("sha256").update(`coffer/v1/${label}\0`).update(bytes).digest().subarray(0, length)

/** Encodes bytes by five bits a letter, filled up with zeros. */
const encode = (bytes: Uint8Array): string => {
  let text = ""
  for (let bit = 0; bit < bytes.length * 8; bit += groupLength) {
    const pair = ((bytes[bit >> 3] ?? 0) << 8) | (bytes[(bit >> 3) + 1] ?? 0)
    text += letters.charAt((pair >> (11 - (bit & 7))) & 31)
  }
  return text
}

const decode = (text: string): Uint8Array => {
  const bytes = new Uint8Array(Math.floor((text.length * groupLength) / 8))
  for (let index = 0; index < text.length; index++) {
    const bit = index * groupLength
    const pair = letters.indexOf(text.charAt(index)) << (11 - (bit & 7))
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (pair >> 8)
    if ((bit >> 3) + 1 < bytes.length) bytes[(bit >> 3) + 1] = (bytes[(bit >> 3) + 1] ?? 0) | (pair & 255)
  }
  return bytes
}

const grouped = (text: string): string => (text.match(/.{5}/g) ?? []).join("-")

const checkOf = (head: string): string => encode(digest("share-check", head, 4)).slice(0, groupLength)

interface Share extends Point {
  readonly threshold: number
  readonly set: string
}

const textOf = ({ set, threshold, x, y }: Share): string => {
  const data = encode(y)
  const head = `${x}-${threshold}-${set}${data}`
  return `${x}-${threshold}-${grouped(set + data + checkOf(head))}`
}

/**
 * Splits a master key of 64 hexadecimal digits into shares to be written down. A check of the key is split with it, so that it says
 * nothing to the holders of too few shares.
 */
export const splitKey = (key: string, threshold: number, count: number): ReadonlyArray<string> => {
  const bytes = Buffer.from(key, "hex")
  const set = Array.from({ length: groupLength }, () => letters.charAt(randomInt(letters.length))).join("")
  const secret = Buffer.concat([bytes, digest("key-check", bytes, keyCheckBytes)])
  return splitBytes(secret, threshold, count).map((point) => textOf({ ...point, threshold, set }))
}

/** Normalizes a typed line, in which a person may have typed another character for a letter. */
const typed = (line: string): string => line.trim().toUpperCase().replaceAll("O", "0").replace(/[IL]/g, "1")

const wrongGroup = (groups: ReadonlyArray<string>): string => {
  const foreign = groups.findIndex((group) => [...group].some((letter) => !letters.includes(letter)))
  if (foreign !== -1) return `group ${foreign + 1} has a character that no share has`
  const uneven = groups.findIndex((group) => group.length !== groupLength)
  return groups.length === allGroups && uneven !== -1
    ? `group ${uneven + 1} has ${groups[uneven]?.length} characters, and should have ${groupLength}`
    : `it has ${groups.join("").length} characters after its two numbers, and should have ${allGroups * groupLength} in ${allGroups} groups`
}

const readShare = (line: string, where: string): Either.Either<Share, ShareProblem> => {
  const [, number = "", threshold = "", rest] = /^(\d{1,3})[\s-]+(\d{1,3})[\s-]+(\S.*)$/.exec(typed(line)) ?? []
  if (rest === undefined) return problem(`${where} is no share: a share begins with its number and how many are needed`)
  const groups = rest.split(/[\s-]+/)
  const text = groups.join("")
  const name = `share ${number} (${where})`
  if (text.length !== allGroups * groupLength || [...text].some((letter) => !letters.includes(letter))) {
    return problem(`${name} has a typing mistake: ${wrongGroup(groups)}`)
  }
  const head = text.slice(0, -groupLength)
  if (text.slice(-groupLength) !== checkOf(`${Number(number)}-${Number(threshold)}-${head}`)) {
    return problem(`${name} has a typing mistake: compare each group, and its two numbers, with what was written down`)
  }
  const y = decode(head.slice(groupLength)).subarray(0, keyBytes + keyCheckBytes)
  return Either.right({ x: Number(number), threshold: Number(threshold), set: head.slice(0, groupLength), y })
}

const twice = (shares: ReadonlyArray<Share>): number | undefined =>
  shares.find(({ x }, index) => shares.findIndex((other) => other.x === x) !== index)?.x

const mixed = "shares of different splits are mixed: take those of one split, which have the same first group"

const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b)

/** Returns the master key that shares were made of, one a line; empty lines are skipped. */
export const combineShares = (text: string): Either.Either<string, ShareProblem> => {
  const lines = text.split("\n").flatMap((line, index) => (line.trim() === "" ? [] : [[line, index + 1] as const]))
  const found = Either.all(lines.map(([line, number]) => readShare(line, `line ${number}`)))
  return Either.flatMap(found, (shares) => {
    const [first] = shares
    if (first === undefined) return problem("no share is given: type the shares, one a line")
    if (shares.some(({ set, threshold }) => set !== first.set || threshold !== first.threshold)) return problem(mixed)
    const repeated = twice(shares)
    if (repeated !== undefined)
      return problem(`share ${repeated} is given twice: replace one of the two by another share`)
    const { threshold } = first
    if (shares.length < threshold) {
      return problem(
        `${threshold} shares are needed, and ${shares.length} given: add ${threshold - shares.length} more`
      )
    }
    const needed = shares.slice(0, threshold)
    if (shares.slice(threshold).some(({ x, y }) => !isSame(interpolate(needed, x), y))) return problem(mixed)
    const secret = interpolate(needed, 0)
    const key = Buffer.from(secret.subarray(0, keyBytes))
    return isSame(digest("key-check", key, keyCheckBytes), secret.subarray(keyBytes))
      ? Either.right(key.toString("hex"))
      : problem(mixed)
  })
}

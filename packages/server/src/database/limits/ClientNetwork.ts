const groupsIn = (text: string): ReadonlyArray<string> => (text === "" ? [] : text.split(":"))

/** Converts the dotted end of an IPv6 address (`::ffff:192.0.2.1`) to two hexadecimal groups. */
const withoutDots = (address: string): string =>
  address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a: string, b: string, c: string, d: string) =>
    [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map((group) => group.toString(16)).join(":")
  )

const byteOf = (group: number, half: 0 | 1): number => (half === 0 ? group >> 8 : group & 255)

/** The subject of rate limits by address: the IPv4 address, or the /64 network of an IPv6 address, which one client owns. */
export const clientNetwork = (ip: string | null): string => {
  if (ip === null) return "unknown"
  const address = ip.replace(/%.*$/, "")
  if (!address.includes(":")) return address
  const [head = "", tail] = withoutDots(address).split("::")
  const [before, after] = [groupsIn(head), groupsIn(tail ?? "")]
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => "0")
  const groups = [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16))
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (isMapped) return [byteOf(high, 0), byteOf(high, 1), byteOf(low, 0), byteOf(low, 1)].join(".")
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":")}::/64`
}

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)

/**
 * Returns a domain in lowercase ASCII letters, as DNS has it: `bücher.example` becomes `xn--bcher-kva.example`. Returns null if
 * it cannot be converted, or if a label would become another one in ASCII: `ｅxample.com` must not stand for `example.com`.
 */
export const asciiDomain = (text: string): string | null => {
  const lower = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  if (isAscii(lower)) return lower
  // The parser of addresses would give these a meaning of their own.
  if (lower.length > 254 || /[\s/\\?#@:%[\]<>^|]/.test(lower) || !URL.canParse(`http://${lower}`)) return null
  const converted = new URL(`http://${lower}`).hostname
  const labels = converted.split(".")
  const written = lower.split(".")
  return labels.length === written.length &&
    written.every((label, index) => (isAscii(label) ? labels[index] === label : labels[index]?.startsWith("xn--")))
    ? converted
    : null
}

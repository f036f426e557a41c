const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/**
 * A text in double quotes, for YAML 1.1 and 1.2. Beyond what JSON escapes: line ends that only YAML 1.1 knows, and what YAML
 * calls not printable, which readers refuse. (The library's own writer leaves them as they are.)
 */
export const quoteForYaml = (text: string): string =>
  JSON.stringify(text).replace(/[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]/g, escaped)

/** How often the server checks a target by itself. */
export const checkMillis = 60 * 60_000

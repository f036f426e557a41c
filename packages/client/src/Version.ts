/** The version of this package, which the server's version must share the major of. */
export const version = "0.3.0"

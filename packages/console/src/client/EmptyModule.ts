/** Replaces a package that no page needs. */
export {}

/** In the place of a package that no page needs. */
export {}

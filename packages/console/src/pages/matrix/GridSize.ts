/** The height of a row of the grid in pixels, as in `Page.css`. */
export const rowHeight = 34

/** The height of its head. */
export const headHeight = 40

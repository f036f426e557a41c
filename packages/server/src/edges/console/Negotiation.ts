/** Whether a request is a browser's for a page: scripts and other programs do not ask for `text/html`. */
export const wantsPage = (accept: string | undefined): boolean =>
  accept?.split(",").some((type) => type.trim().toLowerCase().startsWith("text/html")) === true

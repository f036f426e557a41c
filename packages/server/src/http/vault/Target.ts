/** Whether a request is for the view of Vault's API. */
export const isVaultPath = (url: string): boolean => /^\/v1(?:[/?]|$)/.test(url)

/** Clients end the path of a list with a slash, which is another path for the router. */
export const routedUrl = (url: string): string =>
  isVaultPath(url) ? url.replace(/^(\/v1\/[^?]*[^/?])\/(?=\?|$)/, "$1") : url

/** Vault takes PUT for POST, and most of its clients send PUT. */
export const routedMethod = (method: string, url: string): string =>
  method === "PUT" && isVaultPath(url) ? "POST" : method

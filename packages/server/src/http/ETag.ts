/**
 * Whether an `If-Match` or `If-None-Match` header (RFC 9110, section 13.1) names an ETag. Weak tags count, because
 * proxies that compress responses mark tags as weak. What the tag stands for is the same.
 */
export const namesETag = (header: string, etag: string): boolean =>
  header.trim() === "*" || header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag)

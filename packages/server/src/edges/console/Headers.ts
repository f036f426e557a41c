/** No inline script or style, nothing from elsewhere, no frames, and no markup from text. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "font-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'"
].join("; ")

/** Features that the console does not use. It writes to the clipboard, and asks for passkeys. */
const unused = [
  ...["accelerometer", "autoplay", "camera", "clipboard-read", "display-capture", "encrypted-media", "fullscreen"],
  ...["geolocation", "gyroscope", "hid", "idle-detection", "local-fonts", "magnetometer", "microphone", "midi"],
  ...["payment", "picture-in-picture"],
  ...["screen-wake-lock", "serial", "storage-access", "usb", "window-management", "xr-spatial-tracking"]
]

const common = {
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  vary: "accept-encoding"
}

/** Headers of the page. */
export const ofPage = {
  ...common,
  "cache-control": "no-cache",
  "content-security-policy": contentSecurityPolicy,
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": unused.map((feature) => `${feature}=()`).join(", "),
  vary: "accept, accept-encoding",
  "x-frame-options": "DENY"
}

/** Headers of files whose names are hashes of their content. */
export const ofAsset = { ...common, "cache-control": "public, max-age=31536000, immutable" }

/** Headers of files with lasting names. */
export const ofFile = { ...common, "cache-control": "no-cache" }

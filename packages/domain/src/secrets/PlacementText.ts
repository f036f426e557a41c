import type { Placement } from "./Placement.js"

/** Where a use rule puts the value, in a few words. */
export const placementText = (place: Placement): string => {
  switch (place.in) {
    case "header":
      return `header ${place.name}`
    case "query":
      return `parameter ${place.name}`
    case "basic":
      return `password of ${place.user}`
    case "hmac-sha256":
      return `HMAC in ${place.header}`
    case "aws-sigv4":
      return `signature for ${place.service}`
  }
}

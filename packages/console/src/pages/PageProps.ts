import type { Place } from "../routing/Places.js"

export type PlaceAt<At extends Place["at"]> = Extract<Place, { readonly at: At }>

/** The properties of a page: its place. */
export interface PageProps<At extends Place["at"]> {
  readonly place: PlaceAt<At>
}

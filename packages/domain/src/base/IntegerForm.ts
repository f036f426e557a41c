/** Whole numbers in a query string, without schemas: `Schemas.ts` builds them from this. */
export interface IntegerForm {
  readonly minimum: number
  readonly maximum: number
  /** The error message for any other number. */
  readonly message: string
}

export const integerForm = (minimum: number, maximum: number): IntegerForm => ({
  minimum,
  maximum,
  message: `must be a whole number from ${minimum} to ${maximum}`
})

const most = 2_147_483_647

/** The number of a version or a revision. */
export const versionForm = integerForm(1, most)

/** The version that a change expects: 0 when the key must not exist. */
export const expectedVersionForm = integerForm(0, most)

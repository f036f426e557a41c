/** The SQLSTATE of a check of the fence on another number: a division by zero, which no other statement makes. */
export const movedCode = "22012"

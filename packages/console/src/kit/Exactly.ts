/** A time to the second, such as `2026-02-01 08:30:00 UTC`. */
export const exactly = (time: string): string => `${time.slice(0, 19).replace("T", " ")} UTC`

/** The result of one check. */
export interface Finding {
  readonly name: string
  /** `off`: the feature is not configured. */
  readonly status: "ok" | "warning" | "failed" | "off"
  readonly message: string
  /** The remedy for a warning or a failure. */
  readonly next?: string
}

export const ok = (name: string, message: string): Finding => ({ name, status: "ok", message })
export const off = (name: string, message: string): Finding => ({ name, status: "off", message })
export const warning = (name: string, message: string, next: string): Finding => ({
  name,
  status: "warning",
  message,
  next
})
export const failed = (name: string, message: string, next: string): Finding => ({
  name,
  status: "failed",
  message,
  next
})

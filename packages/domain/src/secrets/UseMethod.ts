import * as Schema from "effect/Schema"
import { withMessage } from "../base/Message.js"

export const useMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const
const methodMessage = "must be methods: GET, HEAD, POST, PUT, PATCH or DELETE"
export const UseMethod = Schema.Literal(...useMethods).annotations({
  ...withMessage(methodMessage),
  description: "a method of HTTP"
})
export type UseMethod = typeof UseMethod.Type

import { counter } from "../base/Metrics.js"

/** Responses whose connections were closed because their clients read too slowly. */
export const cutResponses = counter(
  "coffer_http_responses_cut_total",
  "Responses that were cut, because their clients read too slowly"
)

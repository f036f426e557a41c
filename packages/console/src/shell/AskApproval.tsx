import { useLazy } from "../kit/Lazy.js"
import { answer, askedAbout } from "../state/Approval.js"

/** Asks what to do about a change of a protected environment. */
export const AskApproval = () => {
  const path = askedAbout.value
  const loaded = useLazy(
    path !== null,
    async () => (await import("./ApprovalDialog.js")).ApprovalDialog,
    () => {
      answer(null)
    }
  )
  return path === null || loaded === null ? null : <loaded.Part key={path} path={path} />
}

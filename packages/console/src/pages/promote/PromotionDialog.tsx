import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { DialogButtons } from "../../kit/DialogButtons.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { AsRequest } from "../../kit/Shield.js"
import { ChangeTable } from "../../staging/ChangeTable.js"
import { type ProjectPlace, type Sent, sentAs } from "../../staging/Writes.js"

/** Which secrets go where. */
export interface Promotion {
  readonly place: ProjectPlace
  readonly from: EnvName
  readonly to: EnvName
  readonly keys: ReadonlyArray<SecretKey>
  readonly isProtected: boolean
}

interface ReviewProps {
  readonly promotion: Promotion
  readonly close: () => void
  /** Called with what was written, or null if it cannot be taken back. */
  readonly done: (sent: Sent | null) => void
}

/** The ETag of a dry run covers both environments: a copy with it writes what the dry run showed, or nothing. */
const copy = ({ from, keys, place, to }: Promotion, etag: string | null) =>
  Effect.map(
    call("environments", (api) =>
      api.copy({
        path: { org_name: place.org, project_name: place.project, env_name: to },
        headers: etag === null ? {} : { "if-match": etag },
        payload: { from, keys, dry_run: etag === null },
        withResponse: true
      })
    ),
    ([written, { headers }]) => ({ written, etag: headers["etag"] ?? "" })
  )

const write = (promotion: Promotion, etag: string) =>
  Effect.flatMap(copy(promotion, etag), ({ written: { revision } }) =>
    // The write is done: that it cannot be taken back is no failure of it.
    Effect.orElseSucceed(sentAs(promotion.place, promotion.to, revision), () => null)
  )

/** Shows the changes of a copy, as its dry run reports them, and then makes the copy. */
export const PromotionDialog = ({ close, done, promotion }: ReviewProps) => {
  const { from, to } = promotion
  const tried = useLoad("dry run", () => copy(promotion, null))
  const act = useAct()
  return (
    <Dialog title={`Promote from ${from} to ${to}`} class="wide" busy={act.isBusy} close={close}>
      <p>Nothing is written yet. The values do not pass through this browser.</p>
      <Reading of={tried}>
        {({ written, etag }) => (
          <>
            <ChangeTable env={to} written={written} />
            {promotion.isProtected && <AsRequest />}
            <DialogButtons
              act={act}
              close={close}
              word={`${promotion.isProtected ? "Request for" : "Write to"} ${to}`}
              kind="primary"
              decide={() => {
                act.run(write(promotion, etag), done)
              }}
            />
          </>
        )}
      </Reading>
    </Dialog>
  )
}

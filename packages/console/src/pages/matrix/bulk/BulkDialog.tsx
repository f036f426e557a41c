import { chosenRows } from "../Chosen.js"
import type { Model, Open } from "../Model.js"
import { CopyDialog } from "./CopyDialog.js"
import { DeleteDialog } from "./DeleteDialog.js"
import { DueDialog } from "./DueDialog.js"
import { ExportDialog } from "./ExportDialog.js"

interface BulkProps {
  readonly model: Model
  readonly act: Extract<Open, { readonly type: "bulk" }>["act"]
  readonly reload: () => void
  readonly close: () => void
}

/** The dialog of a bulk action on the selected rows. */
export const BulkDialog = ({ act, close, model, reload }: BulkProps) => {
  const rows = chosenRows(model)
  switch (act) {
    case "delete":
      return <DeleteDialog model={model} rows={rows} close={close} />
    case "copy":
      return <CopyDialog model={model} rows={rows} reload={reload} close={close} />
    case "due":
      return <DueDialog model={model} rows={rows} reload={reload} close={close} />
    case "export":
      return <ExportDialog model={model} rows={rows} close={close} />
    case "exportAll":
      return <ExportDialog model={model} rows={model.grid.value.rows} close={close} />
  }
}

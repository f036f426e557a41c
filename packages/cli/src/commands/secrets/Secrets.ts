import { group } from "../../grammar/Command.js"
import { due } from "./Due.js"
import { remove } from "./SecretDelete.js"
import { edit } from "./SecretEdit.js"
import { exportSecrets } from "./SecretExport.js"
import { find } from "./SecretFind.js"
import { get } from "./SecretGet.js"
import { destroy, rollback, undelete, versions } from "./SecretHistory.js"
import { importSecrets } from "./SecretImport.js"
import { list } from "./SecretList.js"
import { copy, rename } from "./SecretMoves.js"
import { references } from "./SecretReferences.js"
import { set } from "./SecretSet.js"

export const secretCommand = group(
  "secret",
  "Secrets of an environment",
  [
    list,
    find,
    get,
    set,
    edit,
    remove,
    rename,
    copy,
    references,
    due,
    versions,
    rollback,
    undelete,
    destroy,
    importSecrets,
    exportSecrets
  ],
  "secrets"
)

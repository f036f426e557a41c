import { aclCommand } from "./commands/AccessRules.js"
import { auditCommand } from "./commands/audit/Audit.js"
import { authCommands } from "./commands/auth/Auth.js"
import { backupCommand } from "./commands/backups/Backups.js"
import { composeCommand } from "./commands/compose/Compose.js"
import { completionsCommand } from "./commands/Completions.js"
import { checkCommand } from "./commands/declare/Check.js"
import { declareCommands } from "./commands/declare/Declare.js"
import { doctorCommand } from "./commands/doctor/Doctor.js"
import { environmentCommand } from "./commands/environments/Environments.js"
import { helpCommands } from "./commands/Help.js"
import { masterKeyCommand } from "./commands/master-key/MasterKey.js"
import { memberCommand } from "./commands/Members.js"
import { orgCommand } from "./commands/Organizations.js"
import { projectCommand } from "./commands/Projects.js"
import { runCommand } from "./commands/Run.js"
import { scanCommand } from "./commands/scan/Scan.js"
import { secretCommand } from "./commands/secrets/Secrets.js"
import { featuresCommand, settingsCommand } from "./commands/Server.js"
import { serviceAccountCommand } from "./commands/ServiceAccounts.js"
import { sessionCommand } from "./commands/Sessions.js"
import { setupCommands } from "./commands/setup/Setup.js"
import { userCommand } from "./commands/Users.js"
import { approvalCommand } from "./commands/use/Approvals.js"
import { useCommand } from "./commands/use/Use.js"
import { webhookCommand } from "./commands/webhooks/Webhooks.js"
import type { Tree } from "./grammar/Tree.js"

/** Every command of the client. The help and the completions list them in this order. */
export const tree: Tree = {
  description: "Keeps secrets, and gives them to the programs that need them",
  nodes: [
    ...authCommands,
    ...setupCommands,
    doctorCommand,
    sessionCommand,
    orgCommand,
    memberCommand,
    projectCommand,
    environmentCommand,
    secretCommand,
    ...declareCommands,
    checkCommand,
    runCommand,
    composeCommand,
    scanCommand,
    aclCommand,
    useCommand,
    approvalCommand,
    serviceAccountCommand,
    webhookCommand,
    userCommand,
    auditCommand,
    backupCommand,
    featuresCommand,
    settingsCommand,
    masterKeyCommand,
    completionsCommand(() => tree),
    ...helpCommands
  ]
}

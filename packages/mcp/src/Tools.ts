import type { Tool } from "./Tool.js"
import { accessRequest, accessShow, requestList } from "./tools/Access.js"
import { auditList } from "./tools/Audit.js"
import { envCreate, envDelete, envList } from "./tools/Environments.js"
import { secretCompare, secretCopy, secretGenerate, secretRollback, secretVersions } from "./tools/Extra.js"
import { secretFind } from "./tools/Find.js"
import { healthCheck } from "./tools/Health.js"
import { aclList, orgList, orgMembersList } from "./tools/Organizations.js"
import { projectCreate, projectDelete, projectList } from "./tools/Projects.js"
import { secretCheck as declaredKeysCheck } from "./tools/Declared.js"
import { httpRequest, secretUses } from "./tools/Use.js"
import { secretCheck, secretDelete, secretGet, secretList, secretSet } from "./tools/Secrets.js"

/** Every tool: those of the specification in its order, then the extra ones. */
export const tools: ReadonlyArray<Tool> = [
  secretSet,
  secretGet,
  secretCheck,
  secretList,
  secretDelete,
  projectCreate,
  projectList,
  projectDelete,
  envCreate,
  envList,
  envDelete,
  orgList,
  orgMembersList,
  aclList,
  auditList,
  healthCheck,
  secretCompare,
  secretVersions,
  secretRollback,
  secretCopy,
  secretGenerate,
  declaredKeysCheck,
  secretFind,
  accessShow,
  accessRequest,
  requestList,
  httpRequest,
  secretUses
]

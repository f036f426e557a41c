import type { Action } from "@coffer/domain/access/Permissions"
import type { ComponentType } from "preact"
import type { Place } from "../routing/Places.js"
import type { PageProps } from "./PageProps.js"

export interface PageRow<At extends Place["at"]> {
  /** The last part of its address. The first page of a place has none. */
  readonly page: string
  readonly title: string
  /** The permission that the page requires. Without it, the navigation shows the page greyed out, with the reason. */
  readonly need?: Action | "superadmin"
  readonly load: () => Promise<{ readonly Page: ComponentType<PageProps<At>> }>
}

/** All pages, in the order of the navigation. A page is a folder with `Page.tsx`, and its row here. */
export const pages: { readonly [At in Place["at"]]: ReadonlyArray<PageRow<At>> } = {
  server: [
    { page: "", title: "Organizations", load: () => import("./organizations/Page.js") },
    { page: "account", title: "My account", load: () => import("./account/Page.js") },
    { page: "users", title: "People", need: "superadmin", load: () => import("./users/Page.js") },
    { page: "server", title: "Server", need: "superadmin", load: () => import("./server/Page.js") },
    { page: "backups", title: "Backups", need: "superadmin", load: () => import("./backups/Page.js") }
  ],
  org: [
    { page: "", title: "Projects", load: () => import("./projects/Page.js") },
    { page: "members", title: "Members", need: "member.list", load: () => import("./members/Page.js") },
    { page: "groups", title: "Groups", need: "group.list", load: () => import("./groups/Page.js") },
    { page: "rules", title: "Rules", need: "acl.list", load: () => import("./rules/Page.js") },
    {
      page: "accounts",
      title: "Service accounts",
      need: "service_account.list",
      load: () => import("./accounts/Page.js")
    },
    { page: "approvals", title: "Requests", need: "request.list", load: () => import("./requests/Page.js") },
    { page: "webhooks", title: "Webhooks", need: "webhook.list", load: () => import("./webhooks/Page.js") },
    { page: "audit", title: "Audit", need: "audit.read", load: () => import("./audit/Page.js") },
    { page: "settings", title: "Settings", load: () => import("./org-settings/Page.js") }
  ],
  project: [
    { page: "", title: "Matrix", load: () => import("./matrix/Page.js") },
    { page: "promote", title: "Promote", load: () => import("./promote/Page.js") },
    { page: "history", title: "History", load: () => import("./history/Page.js") },
    { page: "settings", title: "Settings", load: () => import("./project-settings/Page.js") }
  ],
  secret: [{ page: "", title: "", load: () => import("./secret/Page.js") }]
}

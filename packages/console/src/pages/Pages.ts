import type { Action } from "@coffer/domain/access/Permissions"
import {
  ArchiveRestore,
  ArrowRightLeft,
  Bot,
  Building2,
  CircleUser,
  FolderClosed,
  Grid3x3,
  History,
  type IconNode,
  Inbox,
  KeyRound,
  ListChecks,
  Plug,
  RotateCw,
  ScrollText,
  Send,
  Server,
  Settings,
  ShieldCheck,
  UserRound,
  Users,
  Webhook
} from "lucide"
import type { ComponentType } from "preact"
import type { Place } from "../routing/Places.js"
import type { PageProps } from "./PageProps.js"

export interface PageRow<At extends Place["at"]> {
  /** The last part of its address. The first page of a place has none. */
  readonly page: string
  readonly title: string
  readonly icon: IconNode
  /** The permission that the page requires. Without it, the navigation shows the page greyed out, with the reason. */
  readonly need?: Action | "superadmin"
  /** Whether programs open it, so that the navigation does not have it. */
  readonly isForPrograms?: true
  readonly load: () => Promise<{ readonly Page: ComponentType<PageProps<At>> }>
}

/** All pages, in the order of the navigation. A page is a folder with `Page.tsx`, and its row here. */
export const pages: { readonly [At in Place["at"]]: ReadonlyArray<PageRow<At>> } = {
  server: [
    { page: "", title: "Organizations", icon: Building2, load: () => import("./organizations/Page.js") },
    { page: "account", title: "My account", icon: CircleUser, load: () => import("./account/Page.js") },
    {
      page: "authorize",
      title: "Connect a program",
      icon: Plug,
      isForPrograms: true,
      load: () => import("./authorize/Page.js")
    },
    { page: "users", title: "People", icon: Users, need: "superadmin", load: () => import("./users/Page.js") },
    { page: "server", title: "Server", icon: Server, need: "superadmin", load: () => import("./server/Page.js") },
    {
      page: "backups",
      title: "Backups",
      icon: ArchiveRestore,
      need: "superadmin",
      load: () => import("./backups/Page.js")
    }
  ],
  org: [
    { page: "", title: "Projects", icon: FolderClosed, load: () => import("./projects/Page.js") },
    {
      page: "members",
      title: "Members",
      icon: UserRound,
      need: "member.list",
      load: () => import("./members/Page.js")
    },
    { page: "groups", title: "Groups", icon: Users, need: "group.list", load: () => import("./groups/Page.js") },
    { page: "rules", title: "Rules", icon: ShieldCheck, need: "acl.list", load: () => import("./rules/Page.js") },
    {
      page: "accounts",
      title: "Service accounts",
      icon: Bot,
      need: "service_account.list",
      load: () => import("./accounts/Page.js")
    },
    {
      page: "approvals",
      title: "Requests",
      icon: Inbox,
      need: "request.list",
      load: () => import("./requests/Page.js")
    },
    {
      page: "webhooks",
      title: "Webhooks",
      icon: Webhook,
      need: "webhook.list",
      load: () => import("./webhooks/Page.js")
    },
    { page: "audit", title: "Audit", icon: ScrollText, need: "audit.read", load: () => import("./audit/Page.js") },
    { page: "settings", title: "Settings", icon: Settings, load: () => import("./org-settings/Page.js") }
  ],
  project: [
    { page: "", title: "Matrix", icon: Grid3x3, load: () => import("./matrix/Page.js") },
    { page: "promote", title: "Promote", icon: ArrowRightLeft, load: () => import("./promote/Page.js") },
    { page: "targets", title: "Targets", icon: Send, need: "target.list", load: () => import("./targets/Page.js") },
    { page: "renewal", title: "Renewal", icon: RotateCw, load: () => import("./renewal/Page.js") },
    { page: "history", title: "History", icon: History, load: () => import("./history/Page.js") },
    { page: "who", title: "Who can", icon: ListChecks, need: "access.list", load: () => import("./who/Page.js") },
    { page: "settings", title: "Settings", icon: Settings, load: () => import("./project-settings/Page.js") }
  ],
  secret: [{ page: "", title: "", icon: KeyRound, load: () => import("./secret/Page.js") }]
}

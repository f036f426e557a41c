import { useEffect, useLayoutEffect } from "preact/hooks"
import { Search } from "lucide"
import { Icon } from "../kit/Icon.js"
import { Reading } from "../kit/Reading.js"
import { useLoad } from "../kit/Load.js"
import { Link } from "../routing/Link.js"
import { place } from "../routing/Router.js"
import { usePasted } from "../staging/Pasted.js"
import { begin } from "../client/Begin.js"
import { isInvitedTo, mayInOrg } from "../client/Organizations.js"
import { waiting, watchWaiting } from "../client/Waiting.js"
import { AccountMenu } from "./AccountMenu.js"
import { AskApproval } from "./AskApproval.js"
import { StatusNotices } from "./StatusNotices.js"
import { LoginDialog } from "./LoginDialog.js"
import { Breadcrumb, Side, Tabs } from "./Navigation.js"
import { overlay, Overlays } from "./Overlays.js"
import { PageHost } from "./PageHost.js"
import { titleOf } from "./Title.js"
import { UnsentDialog } from "./UnsentDialog.js"

/** Everything around a page. */
export const Shell = () => {
  const session = useLoad("session", () => begin)
  const here = place.value
  usePasted(here)
  const org = here === null || here.at === "server" ? null : here.org
  const count = org === null ? 0 : (waiting.value.get(org) ?? 0)
  const isInvited = isInvitedTo(org)
  const isBegun = session.loaded.value.value !== null
  useEffect(
    () => (isBegun && org !== null && !isInvited && mayInOrg(org, "request.list") ? watchWaiting(org) : undefined),
    [isBegun, org, isInvited]
  )
  // Together with the count of the tab.
  useLayoutEffect(() => {
    document.title = titleOf(here, count)
  }, [here, count])
  useEffect(() => {
    // The focused element may have been removed with its page.
    if (document.activeElement === document.body) document.getElementById("page")?.focus()
  }, [here])
  return (
    <>
      <a class="skip" href="#page">
        Skip to the page
      </a>
      <header class="bar">
        <Link to="/" class="mark">
          Coffer
        </Link>
        <Breadcrumb place={here} />
        <span class="space bar-space" />
        <button
          type="button"
          class="find"
          onClick={() => {
            overlay.value = "palette"
          }}
        >
          <Icon of={Search} />
          Go to… <kbd>Ctrl K</kbd>
        </button>
        <AccountMenu />
      </header>
      {here !== null && <Side place={here} />}
      <div class="content">
        {here !== null && <Tabs place={here} />}
        <StatusNotices />
        <main id="page" tabIndex={-1}>
          <Reading of={session}>{() => <PageHost place={here} />}</Reading>
        </main>
      </div>
      <AskApproval />
      <LoginDialog />
      <Overlays isReady={isBegun} />
      <UnsentDialog />
    </>
  )
}

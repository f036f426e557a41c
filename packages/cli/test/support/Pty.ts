/**
 * The beginning of a Python program that starts `command` at a pseudo-terminal. `until` waits for a text, and returns what came
 * before it; `type` presses keys.
 */
export const atPty = (command: ReadonlyArray<string>, environment = "{}"): string => String.raw`
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0: os.execvpe("${command[0] ?? ""}", ${JSON.stringify(command)}, {**os.environ, **${environment}})
out = b""
def until(text, seconds=120):
    global out
    end = time.time() + seconds
    while text not in out:
        if time.time() > end: sys.exit("waited in vain for %r in %r" % (text, out))
        if select.select([fd], [], [], 0.05)[0]: out += os.read(fd, 65536)
    seen, out = out.split(text, 1)
    return seen
def type(text): os.write(fd, text.encode())
`

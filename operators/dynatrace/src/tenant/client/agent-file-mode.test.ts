import { expect, it } from 'vitest'
import { agentFileMode } from './agent-file-mode.ts'

it.each([
  ['agent/conf/a.conf', 0o666],
  ['agent/bin/run', 0o755],
  ['x/agent/conf/c', 0o755],
])('only the configuration of an agent is writable for all users: %s', (path, mode) => {
  expect(agentFileMode(path, 0o755)).toBe(mode)
})

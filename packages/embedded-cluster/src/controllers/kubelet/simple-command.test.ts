import { expect, it } from 'vitest'
import { simpleCommandEnd } from './simple-command.ts'

const end = (command: string[], args: string[] = []) => simpleCommandEnd({ name: 'main', command, args })

it.each<[string[], number, number]>([
  [['sleep', '5'], 5_000, 0],
  [['sleep', '1000000'], Number.POSITIVE_INFINITY, 0],
  [['/bin/sh', '-c', 'exit 3'], 0, 3],
  [['sh', '-c', 'sleep 2; exit 1'], 2_000, 1],
  [['false'], 0, 1],
])('the end of the command %j is known', (command, runForMs, exitCode) => {
  expect(end(command)).toEqual({ runForMs, exitCode })
})

it('the arguments of a command count as well', () => {
  expect(end(['sh'], ['-c', 'exit 2'])).toEqual({ runForMs: 0, exitCode: 2 })
})

it.each([[['sh', '-c', 'test -f /done && exit 0']], [['server']], [[]], [['sh', '-c', '']]])(
  'the end of the command %j is not guessed',
  (command) => {
    expect(end(command)).toBeUndefined()
  },
)

it('the image pause runs until it is stopped', () => {
  const container = { name: 'main', image: 'registry.k8s.io/pause:3.10' }
  expect(simpleCommandEnd(container)?.runForMs).toBe(Number.POSITIVE_INFINITY)
  expect(simpleCommandEnd({ name: 'main', image: 'registry.example.com/pauses:1' })).toBeUndefined()
})

import { ConnectionError } from '@reeve/kube'
import { Option } from 'commander'
import { describe, expect, it } from 'vitest'
import { runCommandLine } from './command-line.ts'
import { EXIT, type Subcommand, type SubcommandEntry } from './subcommand.ts'
import { type CapturedProcess, runCaptured, startCaptured } from './testing/captured-process.ts'

const greet: Subcommand<{ readonly name: string }> = {
  configure: (command) =>
    command.addOption(new Option('--name <name>', 'whom').default('world')).addHelpText('after', '\nExample: greet'),
  run: async ({ name }, { stdout, logger }) => {
    const log = await logger()
    log.debug({ name }, 'greeting')
    if (name === 'nobody') throw new Error('nobody is there')
    stdout.write(`hello ${name}\n`)
    return EXIT.done
  },
}

/** A program with two subcommands, which records what it loaded. */
function greeter() {
  const loaded: string[] = []
  const entry = (name: string): SubcommandEntry => ({
    name,
    summary: `does ${name}`,
    load: async () => {
      loaded.push(name)
      return { command: greet }
    },
  })
  const line = {
    name: 'greeter',
    description: 'Greets.',
    version: '1.2.3',
    examples: ['greeter greet   says hello'],
    exitCodes: { 2: 'nobody heard it' },
    subcommands: [entry('greet'), entry('leave')],
  }
  const run = (args: readonly string[], parts: CapturedProcess = {}) =>
    runCaptured((argv, process) => runCommandLine(line, argv, process), args, parts)
  return { loaded, run }
}

describe('a command line', () => {
  it('prints its version and loads no subcommand', async () => {
    const { loaded, run } = greeter()
    expect(await run(['--version'])).toEqual({ code: 0, stdout: '1.2.3\n', stderr: '' })
    expect(loaded).toEqual([])
  })

  it('lists the subcommands, examples and exit codes without loading one', async () => {
    const { loaded, run } = greeter()
    const { code, stdout } = await run(['--help'])
    expect(code).toBe(0)
    for (const text of ['does greet', 'does leave', 'says hello']) expect(stdout).toContain(text)
    const codes = /Exit codes:\n([\s\S]*)/.exec(stdout)?.[1]?.trimEnd().split('\n')
    expect(codes).toEqual([
      '  0   done',
      '  1   failed, or something was rejected',
      '  2   nobody heard it',
      '  64  the command line is invalid',
    ])
    expect(loaded).toEqual([])
  })

  it.each([[['greet', '--help']], [['help', 'greet']]])('prints the help of one subcommand with %j', async (args) => {
    const { loaded, run } = greeter()
    const { code, stdout } = await run(args)
    expect(code).toBe(0)
    expect(stdout).toContain('--name <name>')
    expect(stdout).toContain('--log-level <level>')
    expect(stdout).toContain('Example: greet')
    expect(loaded).toEqual(['greet'])
  })

  it('runs a subcommand with its options', async () => {
    const { loaded, run } = greeter()
    expect(await run(['greet', '--name', 'leave'])).toEqual({ code: 0, stdout: 'hello leave\n', stderr: '' })
    expect(loaded).toEqual(['greet'])
  })

  it('exits 1 on failure, with the reason on standard error', async () => {
    const { code, stderr } = await greeter().run(['greet', '--name', 'nobody'])
    expect([code, stderr]).toEqual([1, 'greeter: nobody is there\n'])
  })

  it.each([
    ['no subcommand', []],
    ['an unknown subcommand', ['dance']],
    ['an unknown option', ['greet', '--loud']],
    ['an unknown log level', ['greet', '--log-level', 'chatty']],
  ])('exits 64 for %s, with help on standard error', async (_, args) => {
    const { code, stdout, stderr } = await greeter().run(args)
    expect([code, stdout]).toEqual([64, ''])
    expect(stderr).toContain('greeter')
  })
})

describe('a subcommand that runs until it is stopped', () => {
  /** A program with one subcommand that does this. */
  function worker(work: (signal: AbortSignal) => Promise<void>) {
    const started = Promise.withResolvers<void>()
    const command: Subcommand<never> = {
      configure: () => undefined,
      run: (_, { untilSignal }) =>
        untilSignal((signal) => {
          started.resolve()
          return work(signal)
        }),
    }
    const line = {
      name: 'worker',
      description: 'Works.',
      version: '1.0.0',
      examples: [],
      subcommands: [{ name: 'work', summary: 'work', load: async () => ({ command }) }],
    }
    const running = startCaptured((argv, process) => runCommandLine(line, argv, process), ['work'])
    return { ...running, started: started.promise }
  }

  const aborted = (signal: AbortSignal) =>
    new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

  it('exits 0 when it stops normally', async () => {
    const { send, started, ended } = worker(aborted)
    await started
    send('SIGTERM')
    expect(await ended).toMatchObject({ code: 0 })
  })

  it('exits 1 with one plain sentence when something outside fails', async () => {
    const { code, stderr } = await worker(async () => {
      throw new ConnectionError('list pods: connect ECONNREFUSED', 'connect')
    }).ended
    const sentence =
      'cannot reach the API server: list pods: connect ECONNREFUSED. Check the address and whether the server runs.'
    expect([code, stderr]).toEqual([1, `worker: ${sentence}\n`])
  })

  it('logs the stack of an unexpected failure before the sentence', async () => {
    const { code, stderr } = await worker(async () => {
      throw new TypeError('x is not a function')
    }).ended
    const [entry = '', sentence] = stderr.split('\n')
    expect([code, sentence]).toEqual([1, 'worker: x is not a function'])
    expect(JSON.parse(entry)).toMatchObject({ level: 'error', err: { message: 'x is not a function' } })
  })

  it('shows no secret in the sentence', async () => {
    const { stderr } = await worker(async () => {
      throw new ConnectionError('https://user:hunter2@proxy:3128 is unreachable', 'connect')
    }).ended
    expect(stderr).not.toContain('hunter2')
  })

  it('exits immediately on a second signal, whatever is in progress', async () => {
    const { send, started, ended } = worker(() => new Promise(() => undefined))
    await started
    send('SIGINT')
    send('SIGINT')
    expect(await ended).toMatchObject({ code: 130 })
  })
})

describe('the log', () => {
  it.each([
    ['the option', ['--log-level', 'debug'], {}],
    ['the environment', [], { LOG_LEVEL: 'debug' }],
  ])('is JSON lines on standard error, at the level of %s', async (_, args, env) => {
    const { stdout, stderr } = await greeter().run(['greet', ...args], { env })
    expect(stdout).toBe('hello world\n')
    expect(JSON.parse(stderr)).toMatchObject({ level: 'debug', msg: 'greeting', name: 'world' })
  })

  it.each([[{}], [{ LOG_LEVEL: 'chatty' }]])('is at level info with the environment %j', async (env) => {
    const { stderr } = await greeter().run(['greet'], { env })
    expect(stderr).toBe('')
  })
})

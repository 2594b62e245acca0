/** The init container in each of its modes, as a process: what it writes, file by file. */
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { listing } from '@reeve/archives/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BootstrapperBundle, bundleBootstrapper } from './support/bootstrapper-bundle.ts'
import { type InitContainer, initContainer, missingIsolation, writeFiles } from './support/init-container.ts'
import { AGENT, AGENT_ARGS, agentConfig, enrichment, INPUT, METADATA_ARGS, podArgs } from './support/pod.ts'

const below = (folder: string, files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [`${folder}/${path}`, content]))

let bundle: BootstrapperBundle
beforeAll(async () => {
  bundle = await bundleBootstrapper()
})
afterAll(() => bundle[Symbol.asyncDispose]())

const bootstrap = (...args: readonly (readonly string[])[]) => [bundle.operator, 'bootstrap', ...podArgs(...args)]
const missing = missingIsolation()

describe.skipIf(missing)(`the init container${missing ? ` (skipped: ${missing})` : ''}`, () => {
  it('configures an agent on a read-only volume of the CSI driver, in files that only their owner writes', async () => {
    await using container = await initContainer({ ...below('bin', AGENT), ...below('input', INPUT) })
    await chmod(join(container.bin, 'agent/conf/ruxitagentproc.conf'), 0o664)
    const before = await listing(container.bin)
    expect(await container.run(bootstrap(AGENT_ARGS), { isReadOnly: true })).toEqual({ code: 0, log: '' })
    expect(await listing(container.config)).toEqual(agentConfig())
    expect(await listing(container.bin)).toEqual(before)
  })

  it('adds metadata for applications if they enable it', async () => {
    await using container = await initContainer({ ...below('bin', AGENT), ...below('input', INPUT) })
    const { code } = await container.run(bootstrap(AGENT_ARGS, METADATA_ARGS), { isReadOnly: true })
    expect(code).toBe(0)
    expect(await listing(container.config)).toEqual({ ...agentConfig(), ...enrichment() })
  })

  it('writes nothing but metadata without an agent', async () => {
    await using container = await initContainer(below('input', { 'endpoint.properties': INPUT['endpoint.properties'] }))
    expect(await container.run(bootstrap(METADATA_ARGS))).toEqual({ code: 0, log: '' })
    expect(await listing(container.config)).toEqual(enrichment())
  })

  it('replaces files of an earlier run and leaves nothing else behind', async () => {
    await using container = await initContainer({ ...below('bin', AGENT), ...below('input', INPUT) })
    const expected = { ...agentConfig(), ...enrichment() }
    for (const path of Object.keys(expected).filter((path) => expected[path] !== '777 /')) {
      const file = join(container.config, path)
      await mkdir(join(file, '..'), { recursive: true })
      await Promise.all(
        [file, join(file, '..', `.${path.split('/').at(-1)}.partial`)].map((each) => writeFile(each, 'x')),
      )
    }
    for (const folder of Object.keys(expected).filter((path) => expected[path] === '777 /')) {
      await chmod(join(container.config, folder), 0o777)
    }
    const { code } = await container.run(bootstrap(AGENT_ARGS, METADATA_ARGS), { isReadOnly: true })
    expect(code).toBe(0)
    expect(await listing(container.config)).toEqual(expected)
  })

  it.each([
    ['input', '--input-directory=/mnt/input'],
    ['output', '--config-directory=/mnt/config'],
  ])('does nothing without a directory for %s', async (_, removed) => {
    await using container = await initContainer({ ...below('bin', AGENT), ...below('input', INPUT) })
    const args = bootstrap(AGENT_ARGS, METADATA_ARGS).filter((arg) => arg !== removed)
    expect(await container.run(args)).toEqual({ code: 0, log: '' })
    expect(await readdir(container.config)).toEqual([])
  })

  it.each([
    ['trusted.pem', { 'trusted.pem': 'T' }, { 'custom.pem': '\nT', 'custom_proxy.pem': 'T' }],
    ['activegate.pem', { 'activegate.pem': 'G' }, { 'custom.pem': 'G\n' }],
    ['no certificate', {}, {}],
  ])('writes the certificates that there are: %s', async (_, certificates, expected) => {
    await using container = await initContainer({ ...below('bin', AGENT), ...below('input', certificates) })
    expect((await container.run(bootstrap(AGENT_ARGS))).code).toBe(0)
    const keys = join(container.config, 'app/oneagent/agent/customkeys')
    const names = await readdir(keys).catch(() => [])
    const found = await Promise.all(names.map(async (name) => [name, await readFile(join(keys, name), 'utf8')]))
    expect(Object.fromEntries(found)).toEqual(expected)
    // Without settings of the tenant there are none to merge.
    expect(await readdir(join(container.config, 'app/oneagent/agent/config'))).toEqual(['container.conf'])
  })
})

describe.skipIf(missing)(`errors of the init container${missing ? ` (skipped: ${missing})` : ''}`, () => {
  const failing: readonly (readonly [
    string,
    readonly string[],
    (container: InitContainer) => Promise<void>,
    string,
  ])[] = [
    ['a full-stack pod without a tenant', ['--tenant='], async () => undefined, '--fullstack needs --tenant'],
    ['malformed attributes', ['--attribute-container={'], async () => undefined, 'not valid JSON'],
    [
      'a container name that leads elsewhere',
      ['--attribute-container={"k8s.container.name":"../x"}'],
      async () => undefined,
      'not a container name',
    ],
    ['a volume without an agent', ['--target=/mnt/image'], async () => undefined, '--target contains no agent'],
    [
      'malformed settings',
      [],
      ({ input }) => writeFiles(input, { 'ruxitagentproc.json': '{"tenantToken":"hush' }),
      'ruxitagentproc.json is not valid JSON',
    ],
  ]

  it.each(failing)('exit 1 for %s, or 0 when they are suppressed', async (_, args, prepare, message) => {
    await using container = await initContainer({ ...below('bin', AGENT), ...below('input', INPUT) })
    await prepare(container)
    const failed = await container.run(bootstrap(AGENT_ARGS, METADATA_ARGS, args))
    expect([failed.code, failed.log]).toEqual([1, expect.stringContaining(message)])
    expect(failed.log).not.toContain('hush')
    // The first error ends the run: there is no metadata either.
    expect(Object.keys(await listing(container.config)).filter((path) => path.includes('enrichment'))).toEqual([])
    const suppressed = await container.run(bootstrap(AGENT_ARGS, METADATA_ARGS, args, ['--suppress-error']))
    expect([suppressed.code, suppressed.log]).toEqual([0, expect.stringContaining(message)])
  })

  it.each([['--fullstack=maybe'], ['--suppress-error=perhaps']])(
    'are not suppressed for the argument %s',
    async (arg) => {
      await using container = await initContainer()
      const { code, log } = await container.run(bootstrap(['--suppress-error'], [arg]))
      expect([code, log]).toEqual([1, expect.stringContaining('is not a truth value')])
    },
  )
})

describe.skipIf(missing)(`the bootstrapper of a code-modules image${missing ? ` (skipped: ${missing})` : ''}`, () => {
  const standalone = (...args: readonly (readonly string[])[]) => [bundle.standalone, ...podArgs(...args)]

  it('copies the agent out of its image, links its version and configures it', async () => {
    await using container = await initContainer({ ...below('image', AGENT), ...below('input', INPUT) })
    await chmod(join(container.image, 'agent/lib64/liboneagentproc.so'), 0o755)
    const { code, log } = await container.run(standalone(AGENT_ARGS, METADATA_ARGS))
    expect([code, log]).toEqual([0, ''])
    expect(await listing(container.config)).toEqual(withUmask({ ...agentConfig(), ...enrichment() }))
    expect(await listing(container.bin)).toEqual({
      ...(await listing(container.image)),
      'agent/bin/current': '-> 1.2.3.20260101-101010',
    })
  })

  it('makes the directory of the CSI driver appear atomically, and keeps one that exists', async () => {
    await using container = await initContainer(below('image', AGENT))
    const args = [bundle.standalone, '--source=/mnt/image', '--target=/mnt/bin/modules/x', '--work=/mnt/bin/work/job']
    expect((await container.run(args)).code).toBe(0)
    expect(await readdir(join(container.bin, 'work'))).toEqual([])
    const before = await listing(container.bin)
    expect(before['modules/x/agent/bin/current']).toBe('-> 1.2.3.20260101-101010')
    expect((await container.run(args)).code).toBe(0)
    expect(await listing(container.bin)).toEqual(before)
    expect(await readdir(container.config)).toEqual([])
  })

  it('leaves neither work nor target behind when copying fails', async () => {
    await using container = await initContainer()
    const args = ['--source=/mnt/image/none', '--target=/mnt/bin/x', '--work=/mnt/bin/work', '--suppress-error']
    const { code, log } = await container.run([bundle.standalone, ...args])
    expect([code, log]).toEqual([0, expect.stringContaining('/mnt/image/none does not exist')])
    expect(await readdir(container.bin)).toEqual([])
  })

  it.each(['source', 'target'])('does not start without --%s, also with errors suppressed', async (name) => {
    await using container = await initContainer(below('image', AGENT))
    const args = ['--source=/mnt/image', '--target=/mnt/bin', '--suppress-error'].filter((arg) => !arg.includes(name))
    const { code, log } = await container.run([bundle.standalone, ...args])
    expect([code, log]).toEqual([1, expect.stringContaining(`--${name} is required`)])
  })
})

/** The standalone program keeps the umask of its container, usually 022, for configuration. */
function withUmask(files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(files).map(([path, content]) => [path, content.replace(/^777 /, '755 ')]))
}

/** The images, built and then started in their own read-only root filesystem. */
import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isNative, PLATFORMS } from '../src/platform.ts'
import { runInRoot, whyNotHere } from '../src/run-in-root.ts'
import { type UnpackedImage, unpackImage } from '../src/unpacked-image.ts'

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url))
const OUTPUT = '.reeve/test-images'
const native = PLATFORMS.find(isNative)
const run = promisify(execFile)
const reason = whyNotHere() ?? (native === undefined ? 'no image runs on this machine' : await missingPrograms())

async function missingPrograms(): Promise<string | undefined> {
  const found = await run('sh', ['-c', 'command -v apt-get dpkg-deb unshare chroot']).catch(() => undefined)
  if (found === undefined) return 'apt-get, dpkg-deb, unshare and chroot are needed'
  const system = await readFile('/etc/os-release', 'utf8')
  return /^VERSION_CODENAME=bookworm$/m.test(system) ? undefined : 'the packages of Debian 12 are needed'
}

async function build(
  operator: string,
  output = OUTPUT,
): Promise<{ readonly digest: string; readonly archive: string }> {
  const args = ['tools/image/src/main.ts', operator, '--platform', native ?? '', '--output', output, '--json']
  const { stdout } = await run(process.execPath, args, { cwd: REPOSITORY })
  return JSON.parse(stdout)
}

describe.skipIf(reason !== undefined)(`the images of the operators${reason ? ` (skipped: ${reason})` : ''}`, () => {
  describe.each([
    { operator: 'webapp', smallCommand: ['crd'], prints: 'kind: CustomResourceDefinition' },
    { operator: 'collector', smallCommand: ['crd'], prints: 'kind: CustomResourceDefinition' },
    {
      operator: 'dynatrace',
      smallCommand: ['generate-metadata', '--file=/tmp/made/here.properties', '--attributes=k8s.node.name=worker-1'],
      prints: '',
    },
  ])('of $operator', ({ operator, smallCommand, prints }) => {
    let image: UnpackedImage
    let digest: string
    beforeAll(async () => {
      const built = await build(operator)
      digest = built.digest
      image = await unpackImage(built.archive, native ?? 'linux/amd64')
    }, 300_000)
    afterAll(() => image?.[Symbol.asyncDispose]())

    it('prints the help of every subcommand as a user without privileges on a read-only root', async () => {
      const { code, stdout, stderr } = await runInRoot(image, ['--help'])
      expect(stderr).toBe('')
      expect(code).toBe(0)
      const commands = [...stdout.matchAll(/^ {2}([a-z][a-z-]+)(?: |$)/gm)].map(([, name = '']) => name)
      expect(commands.length).toBeGreaterThan(3)
      for (const name of commands.filter((each) => each !== 'help')) {
        const ended = await runInRoot(image, [name, '--help'])
        expect(ended, name).toMatchObject({ code: 0, stderr: '' })
      }
    })

    it('does the work of a small subcommand', async () => {
      const ended = await runInRoot(image, smallCommand)
      expect(ended).toMatchObject({ code: 0, stderr: '' })
      expect(ended.stdout).toContain(prints)
    })

    if (operator === 'collector') {
      it('runs helm', async () => {
        const helm = ['/usr/local/bin/helm']
        expect(await runInRoot(image, ['version', '--short'], helm)).toMatchObject({
          code: 0,
          stdout: expect.stringMatching(/^v\d+\.\d+\.\d+/),
        })
        // It writes to /tmp only.
        expect(await runInRoot(image, ['create', '/tmp/chart'], helm)).toMatchObject({ code: 0, stderr: '' })
      })
    }

    it('contains authorities, a bill of materials and licences, and no shell', async () => {
      const has = (path: string) =>
        stat(join(image.root, path)).then(
          () => true,
          () => false,
        )
      expect(await has('etc/ssl/certs/ca-certificates.crt')).toBe(true)
      expect(await has('usr/share/sbom/image.cdx.json')).toBe(true)
      expect(await has('usr/share/doc/libc6/copyright')).toBe(true)
      expect(await has('bin/sh')).toBe(false)
    })

    it('has the same digest when it is built again, also by two builds at the same time', async () => {
      const again = await Promise.all([build(operator, `${OUTPUT}/again`), build(operator, `${OUTPUT}/meanwhile`)])
      expect(again.map((built) => built.digest)).toEqual([digest, digest])
    })
  })
})

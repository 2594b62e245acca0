/** `npm run docs [-- <package>…]`: writes the API reference of the public packages into `docs/api`. */
import { join } from 'node:path'
import { type PackageManifest, publicPackages, REPOSITORY } from '@reeve/publish'
import { Application, ReflectionKind, type TypeDocOptions } from 'typedoc'

const OUTPUT = join(REPOSITORY, 'docs', 'api')

const wanted = process.argv.slice(2)
const packages = (await publicPackages()).filter(
  ({ manifest: { name, exports } }) => exports !== undefined && (wanted.length === 0 || wanted.includes(name)),
)
const options: TypeDocOptions = {
  name: 'Reeve',
  entryPointStrategy: 'packages',
  entryPoints: packages.map(({ folder }) => folder),
  packageOptions: {
    // `npm run check:types` is the check, with a newer compiler.
    skipErrorChecking: true,
    excludePrivate: true,
    excludeInternal: true,
    disableGit: true,
    sourceLinkTemplate: '../../{path}#L{line}',
    // Readers find what is not exported in the sources; links to it are not mistakes.
    validation: { notExported: false, invalidLink: false },
  },
  out: OUTPUT,
  readme: join(REPOSITORY, 'README.md'),
  disableGit: true,
  sourceLinkTemplate: '../../{path}#L{line}',
  validation: { notExported: false, invalidLink: false },
}
const application = await Application.bootstrap(options)
const project = await application.convert()
if (project === undefined) throw new Error('typedoc found nothing to document')
for (const { manifest } of packages) nameModules(manifest)
await application.generateDocs(project, OUTPUT)
if (application.logger.hasErrors()) process.exitCode = 1

/** Modules are called what users import; typedoc calls them by the sentence after `@module`. */
function nameModules({ name, exports = {} }: PackageManifest): void {
  const found = project?.children?.find((one) => one.name === name)
  for (const module of found?.getChildrenByKind(ReflectionKind.Module) ?? []) {
    const file = module.sources?.[0]?.fileName
    const [subpath] =
      Object.entries(exports).find(([, source]) => file?.endsWith(join(name.replace(/^@reeve/, ''), source))) ?? []
    if (subpath !== undefined) module.name = join(name, subpath)
  }
}

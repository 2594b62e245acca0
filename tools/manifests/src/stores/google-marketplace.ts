/** The schema of the Dynatrace operator in Google's marketplace: what the form asks for and how it reaches the chart. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { manifestYaml } from '../manifest-yaml.ts'
import { type Setting, settingsOf } from './settings.ts'

/** Values that the marketplace sets itself: it copies the image to a registry of its own. */
const IMAGE_VALUES = { 'imageRef.repository': 'REPO_WITH_REGISTRY', 'imageRef.tag': 'TAG' } as const

/** Not asked for: the marketplace pulls from its own registry. */
const LEFT_OUT = [...Object.keys(IMAGE_VALUES), 'customPullSecret']

/** `schema.yaml` for the deployer of a chart. */
export function googleMarketplaceSchema(chart: string): string {
  const { appVersion, kubeVersion }: { appVersion: string; kubeVersion: string } = parse(
    readFileSync(join(chart, 'Chart.yaml'), 'utf8'),
  )
  const settings = settingsOf(chart).filter(({ path }) => !LEFT_OUT.includes(path))
  return manifestYaml([
    {
      'x-google-marketplace': {
        schemaVersion: 'v2',
        applicationApiVersion: 'v1beta1',
        publishedVersion: appVersion,
        publishedVersionMetadata: {
          releaseNote: `Version ${appVersion}`,
          releaseTypes: ['Feature'],
          recommended: true,
        },
        images: {
          // The name of the main image is empty.
          '': { properties: Object.fromEntries(Object.entries(IMAGE_VALUES).map(([path, type]) => [path, { type }])) },
        },
        clusterConstraints: { k8sVersion: kubeVersion.replace(/-0$/, '') },
        // The chart creates CRDs, ClusterRoles and webhook configurations.
        deployerServiceAccount: {
          roles: [{ type: 'ClusterRole', rulesType: 'PREDEFINED', rulesFromRoleName: 'cluster-admin' }],
        },
      },
      properties: {
        name: { type: 'string', title: 'Name', 'x-google-marketplace': { type: 'NAME' } },
        namespace: { type: 'string', title: 'Namespace', 'x-google-marketplace': { type: 'NAMESPACE' } },
        platform: { type: 'string', title: 'Platform', enum: ['google-marketplace'], default: 'google-marketplace' },
        ...Object.fromEntries(settings.map((setting) => [setting.path, property(setting)])),
      },
      required: ['name', 'namespace'],
      form: [
        {
          widget: 'help',
          description:
            'After the installation, create a Secret with the tokens of your tenant and a DynaKube in the same namespace.',
        },
      ],
    },
  ])
}

function property({ label, description, type, options, default: value }: Setting): object {
  return { type, title: label, description, ...(options && { enum: options }), default: value }
}

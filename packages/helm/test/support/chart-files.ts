/** Charts for tests: small, and misbehaving on request. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Files of a chart by their path in it. */
export type ChartFiles = Readonly<Record<string, string>>

const WEB = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  greeting: {{ .Values.greeting | quote }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      {{- if .Values.stuck }}
      nodeSelector: {nowhere: "true"}
      {{- end }}
      containers: [{name: {{ .Values.container | default "web" }}, image: nginx}]
`

const EXTRAS = `
{{- if .Values.fail }}
{{ fail .Values.fail }}
{{- end }}
{{- if .Values.secret }}
apiVersion: v1
kind: Secret
metadata:
  name: {{ .Release.Name }}
stringData:
  password: {{ .Values.secret | quote }}
{{- end }}
{{- if .Values.unknownKind }}
---
apiVersion: nowhere.example.com/v1
kind: Unknown
metadata:
  name: {{ .Release.Name }}
{{- end }}
`

const SCHEMA = {
  type: 'object',
  properties: {
    replicas: { type: 'integer', minimum: 0 },
    image: { type: 'object', required: ['tag'] },
  },
}

/** A chart whose values decide whether it works, is rejected, fails or never becomes ready. */
export function webChart(version = '1.0.0', name = 'web'): ChartFiles {
  return {
    'Chart.yaml': `apiVersion: v2\nname: ${name}\nversion: ${version}\nappVersion: "7"\n`,
    'values.yaml': 'greeting: hello\nreplicas: 1\nstuck: false\n',
    'values.schema.json': JSON.stringify(SCHEMA),
    'templates/web.yaml': WEB,
    'templates/extras.yaml': EXTRAS,
  }
}

/** Writes a chart into `folder` and returns its path. */
export async function writeChart(folder: string, files: ChartFiles): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

{{- define "dynatrace.csi" -}}
dynatrace-oneagent-csi-driver
{{- end }}

{{- define "dynatrace.csiDriverName" -}}
csi.oneagent.dynatrace.com
{{- end }}

{{- define "dynatrace.csiLabels" -}}
{{ include "dynatrace.labels" (list . "csi-driver") }}
{{- end }}

{{- define "dynatrace.csiSelectorLabels" -}}
internal.oneagent.dynatrace.com/app: csi-driver
internal.oneagent.dynatrace.com/component: csi-driver
{{- end }}

{{- define "dynatrace.csiPriorityClass" -}}
{{ .Values.csidriver.existingPriorityClassName | default "dynatrace-high-priority" }}
{{- end }}

{{- define "dynatrace.kubeletPath" -}}
{{ trimSuffix "/" .Values.csidriver.kubeletPath }}
{{- end }}

{{- /* The directory of the driver on the node: its socket, and the data that its containers share. */}}
{{- define "dynatrace.csiPluginPath" -}}
{{ include "dynatrace.kubeletPath" . }}/plugins/{{ include "dynatrace.csiDriverName" . }}
{{- end }}

{{- define "dynatrace.csiDataPath" -}}
{{ include "dynatrace.csiPluginPath" . }}/data
{{- end }}

{{- /* The names of the containers, for annotations that exist per container. */}}
{{- define "dynatrace.csiContainers" -}}
csi-init server provisioner
{{- if .Values.csidriver.separateSidecars }} registrar{{ if .Values.csidriver.server.livenessProbe.enabled }} liveness-probe{{ end }}{{ end }}
{{- end }}

{{- /* Settings of the Jobs that download code modules; the provisioner creates them. */}}
{{- define "dynatrace.csiJobSettings" -}}
{{- with .Values.csidriver -}}
{
  "tolerations": {{ .tolerations | default list | toJson }},
  "annotations": {{ .annotations | default dict | toJson }},
  "labels": {{ .labels | default dict | toJson }},
  "job": {
    "securityContext": {{ .job.securityContext | default dict | toJson }},
    "resources": {{ .job.resources | default dict | toJson }},
    "priorityClassName": {{ include "dynatrace.csiPriorityClass" $ | toJson }}
  }
}
{{- end }}
{{- end }}

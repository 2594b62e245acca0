{{- /*
No registry is preset: the image is built from this repository and pushed to one of yours. The prefix keeps nodes from
searching a public registry for an image of that name.
*/}}
{{- define "dynatrace.image" -}}
{{- if .Values.image -}}
{{ .Values.image }}
{{- else if .Values.imageRef.repository -}}
{{- with .Values.imageRef -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default (printf "v%s" $.Chart.AppVersion) }}{{ end }}
{{- end -}}
{{- else if eq (include "dynatrace.platform" .) "azure-marketplace" -}}
{{- with (((.Values.global).azure).images).operator -}}
{{ .registry }}/{{ .image }}@{{ .digest }}
{{- else -}}
{{- fail "platform azure-marketplace needs global.azure.images.operator with registry, image and digest; or set imageRef.repository" -}}
{{- end -}}
{{- else -}}
localhost/dynatrace-operator:v{{ .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- /* An image that nodes have to have already is never pulled. */}}
{{- define "dynatrace.imagePullPolicy" -}}
{{ .Values.imageRef.pullPolicy | default (hasPrefix "localhost/" (include "dynatrace.image" .) | ternary "IfNotPresent" "Always") }}
{{- end }}

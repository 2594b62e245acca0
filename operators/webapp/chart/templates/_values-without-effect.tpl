{{- /* One line per value that does nothing, or harm, together with the others. */}}
{{- define "webapp.warnings" -}}
{{- with .Values }}
{{- if hasPrefix "localhost/" .image.repository }}
- image.repository is not set: nodes must already have the image {{ .image.repository }}.
{{- end }}
{{- if and .podDisruptionBudget.enabled (gt (int .replicas) 1) (not (kindIs "string" .podDisruptionBudget.minAvailable)) (ge (int .podDisruptionBudget.minAvailable) (int .replicas)) }}
- podDisruptionBudget.minAvailable is not below replicas: nodes with the operator cannot be drained.
{{- end }}
{{- if eq (int .replicas) 0 }}
- replicas is 0: nothing is reconciled{{ if and .webhook.enabled (eq .webhook.failurePolicy "Fail") }}, and WebApps cannot be written while webhook.failurePolicy is Fail{{ end }}.
{{- end }}
{{- if and .webhook.certificateSecretName (not .webhook.enabled) }}
- webhook.certificateSecretName has no effect: webhook.enabled is false.
{{- end }}
{{- if and (or .metrics.alerts .metrics.dashboard) (not .metrics.serviceMonitor) }}
- metrics.alerts and metrics.dashboard need metrics: set metrics.serviceMonitor, or scrape the Service yourself.
{{- end }}
{{- with .networkPolicy }}
{{- if and (not .enabled) (or .webhookFrom .metricsFrom .consoleFrom .apiServerTo) }}
- the peers in networkPolicy have no effect: networkPolicy.enabled is false.
{{- end }}
{{- if and .enabled .consoleFrom (not $.Values.console.enabled) }}
- networkPolicy.consoleFrom has no effect: console.enabled is false.
{{- end }}
{{- if and .enabled .webhookFrom (not $.Values.webhook.enabled) }}
- networkPolicy.webhookFrom has no effect: webhook.enabled is false.
{{- end }}
{{- end }}
{{- end }}
{{- end }}

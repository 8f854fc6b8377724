"""The exercises of chapter 3d: functions that save, load and freeze a model, or follow its shapes."""

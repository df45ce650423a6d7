"""How people order, ask and chat in languages other than English; `[guard]` settings add to it."""

from __future__ import annotations

from ademem.guard.vocabulary import phrases, words

ORDERS = phrases("""
    beheb*, reparier*, korrigier*, lösch*, entfern*, füg*, hinzufüg*, ergänz*, erstell*, erzeug*,
    änder*, umbenenn*, benenn*, umzubenennen, verschieb*, ersetz*, schreib, schreibe, schreiben,
    implementier*, refaktor*, aktualisier*, installier*, deinstallier*, konfigurier*, baue, setze,
    setz, lege, räum*, committe*, pushe*, optimier*, vereinfach*, formatier*, richte, stelle, passe,
    anpassen, deploye*, starte, starten, stoppe*, verbesser*, mach, mache, weiter, kaputt, fehler*,
    corrig*, corrij*, ajout*, supprim*, renomm*, modifiez, modifie, crée*, créer, remplac*, déplac*,
    refactorise*, implément*, écris, écrire, mets, mettre, mettez, déploie*, enlèv*, enlev*, retire,
    retirer, répare*, changez, changer, fais, vas y, poursuis, nettoie*, arregl*, añad*, agreg*,
    elimin*, borra, borrar, borre, cambia, cambiar, cambie, renombr*, crea, crear, cree, mueve,
    mover, reemplaz*, actualiz*, implementa, implementar, escribe, escribir, instala, instalar,
    despliega*, refactoriza*, quita, quitar, hazlo, adelante, sigue, continúa, haz, adicion*,
    remova, remover, renomei*, altere, altera, alterar, crie, criar, atualiz*, substitua,
    substituir, apague, apaga, apagar, exclua, excluir, mova, escreva, escrever, implemente,
    instale, faça, mude, mudar, prossiga, conserte, consertar, aggiung*, rimuov*, corregg*, elimina,
    cancella, rinomin*, modifica, modificare, sposta, spostare, sostituisc*, aggiorna*, scrivi,
    procedi, vai avanti, voeg, verwijder*, hernoem*, wijzig*, verander*, maak, herstel*, repareer*,
    schrijf, vervang*, verplaats*, ga door, ga verder, installeer*, исправ*, добав*, удал*,
    переимен*, измени*, создай*, замени*, перемест*, обнови*, напиши*, реализ*, установ*, почин*,
    сделай*, перепиш*, убер*, давай, продолж*, 修正, 直し, 追加, 削除, 変更, 作成, 作っ, 実装, 更新,
    リネーム, 置き換え, 移動, 書い, リファクタ, コミット, デプロイ, 続け, 進め, インストール, 修复,
    修改, 添加, 增加, 删除, 重命名, 创建, 新建, 实现, 替换, 移动, 重构, 提交, 部署, 安装, 编写,
    写一个, 改成, 改为, 优化, 升级, 继续, 加上, 去掉, 修復, 新增, 刪除, 建立, 實作, 實現, 重構,
    移除, 수정, 고쳐, 추가, 삭제, 변경, 만들, 구현, 업데이트, 바꿔, 바꾸, 이동, 작성, 리팩터, 커밋,
    배포, 설치, 계속, 제거
""")
"""Orders in other languages: a word, with a star its beginning; without blanks, a part of it."""

QUESTIONS = phrases("""
    wie, warum, wieso, weshalb, was, wo, wer, wann, welche*, wozu, ist, sind, gibt, erklär*, zeig*,
    beschreib*, vergleich*, prüf*, analysier*, sag, hast, comment, pourquoi, quel*, quoi, où, qui,
    quand, est ce, qu'est, expliqu*, montre*, décri*, c'est quoi, cómo, qué, por qué, dónde, cuándo,
    cuál*, quién, explica*, muestra*, muéstra*, como, por que, o que, onde, qual, quem, mostr*,
    come, perché, cosa, dove, quale, chi, spieg*, hoe, waarom, wat, waar, wanneer, welke, leg uit,
    toon, как, почему, зачем, что, где, кто, когда, какой, какие, объясн*, покаж*, どう, なぜ, 何,
    どこ, いつ, 誰, 説明, 教えて, 怎么, 怎樣, 怎麼, 为什么, 為什麼, 什么, 什麼, 哪, 谁, 如何, 解释,
    解釋, 说明, 어떻게, 왜, 무엇, 어디, 언제, 누가, 설명, 뭐
""")
"""First words of a question in other languages, by the same signs."""

TALK = words("""
    alles klar danke dankeschön guten hallo morgen prima schönen schön servus super tag tschüss
    vielen dank gut genau moin abend grüß ok passt das war's für heute
    merci beaucoup bonne soirée journée nuit bonjour bonsoir salut
    parfait d'accord super très bien au revoir c'est génial gracias hola muchas buenos buenas días
    dias tardes noches perfecto perfecta vale genial bien adiós de nada muy obrigado obrigada bom
    boa dia tarde noite olá oi valeu perfeito muito ótimo tchau beleza grazie mille buongiorno
    buonasera perfetto bene va ottimo molto salve arrivederci dank je wel bedankt hoi goedemorgen
    prima dankjewel hartelijk спасибо большое привет здравствуйте отлично хорошо пока понятно
    ありがとう ありがとうございます おはよう おはようございます こんにちは こんばんは 了解 了解です
    お疲れ様です 谢谢 谢谢你 多谢 你好 您好 早上好 再见 好的 好 太好了 謝謝 早安 明白了 감사합니다
    고마워 고마워요 안녕하세요 안녕 네 좋아요 dziękuję cześć teşekkürler merhaba tack hej takk tak
    kiitos
""")
"""Words of small talk."""
